import { useMutation } from 'urql'
import { Login } from '../documents.ts'
import { fieldsOf } from '../form.ts'

export function LoginForm({ onLogin }: { onLogin(accessToken: string): void }) {
  const [{ fetching, error }, login] = useMutation(Login)
  return (
    <form
      onSubmit={async (event) => {
        const field = fieldsOf(event)
        const { data } = await login({ input: { username: field('username'), password: field('password') } })
        if (data?.login != null) onLogin(data.login.accessToken)
      }}
    >
      <label>
        Username <input name="username" autoComplete="username" required />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button type="submit" disabled={fetching}>
        Log in
      </button>
      {error !== undefined && <p role="alert">{error.graphQLErrors[0]?.message ?? error.message}</p>}
    </form>
  )
}
