import { Languages, SunMoon } from 'lucide-react'
import { useContext, useState } from 'react'
import { useTranslations } from 'use-intl'
import { useErrorText } from '../ui/notice.tsx'
import { ChoiceMenu } from '../ui/overlays/menu.tsx'
import { useToast } from '../ui/overlays/toasts.tsx'
import { LANGUAGES, type Language } from './language.ts'
import { LanguageContext } from './language-context.ts'
import styles from './shell.module.css'
import { chooseTheme, chosenTheme, type Theme } from './theme.ts'

const THEMES: readonly Theme[] = ['system', 'light', 'dark']

/** The menus for the language and the colours of the page. */
export function Preferences() {
  const t = useTranslations('common')
  const { language, choose } = useContext(LanguageContext)
  const toast = useToast()
  const describe = useErrorText()
  const [theme, setTheme] = useState(chosenTheme)
  return (
    <div className={styles.preferences}>
      <ChoiceMenu
        label={t('language')}
        icon={<Languages aria-hidden />}
        chosen={language}
        options={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
        onChoose={(value) => void choose(value as Language).catch((error: unknown) => toast(describe(error)))}
      />
      <ChoiceMenu
        label={t('theme')}
        icon={<SunMoon aria-hidden />}
        chosen={theme}
        options={THEMES.map((value) => ({ value, label: t(`themes.${value}`) }))}
        onChoose={(value) => {
          chooseTheme(value as Theme)
          setTheme(value as Theme)
        }}
      />
    </div>
  )
}
