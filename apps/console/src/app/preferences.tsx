import { Menu } from '@base-ui/react/menu'
import { Check, Languages, SunMoon } from 'lucide-react'
import { type ReactNode, useContext, useState } from 'react'
import { useTranslations } from 'use-intl'
import { IconButton } from '../ui/button.tsx'
import { useErrorText } from '../ui/notice.tsx'
import { useToast } from '../ui/overlays/toasts.tsx'
import { LANGUAGES, type Language } from './language.ts'
import { LanguageContext } from './language-context.ts'
import styles from './preferences.module.css'
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
        value={language}
        options={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
        onChange={(value) => void choose(value as Language).catch((error: unknown) => toast(describe(error)))}
      />
      <ChoiceMenu
        label={t('theme')}
        icon={<SunMoon aria-hidden />}
        value={theme}
        options={THEMES.map((value) => ({ value, label: t(`themes.${value}`) }))}
        onChange={(value) => {
          chooseTheme(value as Theme)
          setTheme(value as Theme)
        }}
      />
    </div>
  )
}

interface ChoiceMenuProps {
  readonly label: string
  readonly icon: ReactNode
  readonly value: string
  readonly options: readonly { readonly value: string; readonly label: string }[]
  onChange(value: string): void
}

function ChoiceMenu({ label, icon, value, options, onChange }: ChoiceMenuProps) {
  return (
    <Menu.Root>
      <Menu.Trigger render={<IconButton label={label}>{icon}</IconButton>} />
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end">
          <Menu.Popup className={styles.popup}>
            <Menu.RadioGroup value={value} onValueChange={onChange}>
              {options.map((option) => (
                <Menu.RadioItem key={option.value} value={option.value} className={styles.item} closeOnClick>
                  <span className={styles.mark}>
                    <Menu.RadioItemIndicator>
                      <Check aria-hidden />
                    </Menu.RadioItemIndicator>
                  </span>
                  {option.label}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}
