import { useMutation } from '@tanstack/react-query'
import { LogOut } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { logOut } from '../../session/gateway.ts'
import { Button } from '../../ui/button.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'

export function LogOutButton() {
  const t = useTranslations('account')
  const toast = useToast()
  const leave = useMutation({ mutationFn: logOut, onError: () => toast(t('loggedOutHere')) })
  return (
    <Button onClick={() => leave.mutate()} isBusy={leave.isPending}>
      <LogOut aria-hidden />
      {t('logOut')}
    </Button>
  )
}
