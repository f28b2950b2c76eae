import { useMutation } from '@apollo/client/react'
import { Login } from '../documents.ts'
import { fieldsOf } from '../form.ts'

export function LoginForm({ onLogin }: { onLogin(accessToken: string): void }) {
  const [login, { loading, error }] = useMutation(Login, {
    onCompleted(data) {
      if (data.login !== null) onLogin(data.login.accessToken)
    },
  })
  return (
    <form
      onSubmit={(event) => {
        const field = fieldsOf(event)
        login({ variables: { input: { username: field('username'), password: field('password') } } })
      }}
    >
      <label>
        Username <input name="username" autoComplete="username" required />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button type="submit" disabled={loading}>
        Log in
      </button>
      {error !== undefined && <p role="alert">{error.message}</p>}
    </form>
  )
}
