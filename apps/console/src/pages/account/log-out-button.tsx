import { useMutation } from '@tanstack/react-query'
import { LogOut } from 'lucide-react'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { logOut } from '../../session/gateway.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'
import { useChats } from '../playground/chats/use-chats.ts'

/** Logs out, and asks before whether the chats of the playground stay in this browser, if there are some. */
export function LogOutButton() {
  const t = useTranslations('account')
  const chat = useTranslations('playground.chats')
  const common = useTranslations('common')
  const toast = useToast()
  const [chats, { list }] = useChats()
  const [isAsked, setAsked] = useState(false)
  const leave = useMutation({ mutationFn: logOut, onError: () => toast(t('loggedOutHere')) })
  const remove = useMutation({
    mutationFn: () => chats.clear(),
    onSuccess: () => leave.mutate(),
  })
  const isBusy = leave.isPending || remove.isPending
  async function askOrLeave() {
    // What the browser has may not have been read yet.
    await chats.loaded
    const { list: stored, kept } = chats.view
    if (stored.length > 0 && kept !== 'memory') setAsked(true)
    else leave.mutate()
  }
  return (
    <>
      <Button onClick={askOrLeave} isBusy={isBusy}>
        <LogOut aria-hidden />
        {t('logOut')}
      </Button>
      <Dialog
        title={chat('logOutTitle')}
        description={chat('logOutHint', { count: list.length })}
        isOpen={isAsked}
        onClose={() => setAsked(false)}
      >
        <Actions>
          <Button onClick={() => setAsked(false)}>{common('cancel')}</Button>
          <Button onClick={() => remove.mutate()} isBusy={isBusy}>
            {chat('deleteAndLogOut')}
          </Button>
          <Button look="primary" onClick={() => leave.mutate()} isBusy={isBusy}>
            {chat('keepAndLogOut')}
          </Button>
        </Actions>
      </Dialog>
    </>
  )
}
