import { Menu } from '@base-ui/react/menu'
import { Check } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { IconButton } from '../button.tsx'
import styles from './menu.module.css'

interface ChoiceMenuProps {
  readonly label: string
  readonly icon: ReactNode
  readonly className?: string | undefined
  readonly options: readonly { readonly value: string; readonly label: string }[]
  /** One of the options; or some of them, and the menu stays open while they are chosen. */
  readonly chosen: string | readonly string[]
  onChoose(value: string): void
}

/** A button with an icon that opens a menu of choices. */
export function ChoiceMenu({ label, icon, className, options, chosen, onChoose }: ChoiceMenuProps) {
  // The page may have another one by the time the menu is opened.
  const [landmark, setLandmark] = useState<HTMLElement | null>(null)
  const find = (isOpen: boolean) => isOpen && setLandmark(document.querySelector('main'))
  return (
    <Menu.Root onOpenChange={find}>
      <Menu.Trigger render={<IconButton label={label} className={className} />}>{icon}</Menu.Trigger>
      {/* Inside of a landmark, where a screen reader finds it. */}
      <Menu.Portal container={landmark ?? document.body}>
        <Menu.Positioner sideOffset={4} align="end">
          <Menu.Popup className={styles.popup}>
            {typeof chosen === 'string' ? (
              <Menu.RadioGroup value={chosen} onValueChange={onChoose}>
                {options.map((option) => (
                  <Menu.RadioItem
                    key={option.value}
                    value={option.value}
                    className={styles.item}
                    closeOnClick
                  >
                    <Mark isShown={option.value === chosen} />
                    {option.label}
                  </Menu.RadioItem>
                ))}
              </Menu.RadioGroup>
            ) : (
              options.map((option) => (
                <Menu.CheckboxItem
                  key={option.value}
                  className={styles.item}
                  checked={chosen.includes(option.value)}
                  onCheckedChange={() => onChoose(option.value)}
                >
                  <Mark isShown={chosen.includes(option.value)} />
                  {option.label}
                </Menu.CheckboxItem>
              ))
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

function Mark({ isShown }: { readonly isShown: boolean }) {
  return <span className={styles.mark}>{isShown && <Check aria-hidden />}</span>
}
