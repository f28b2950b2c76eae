import { useMemo, useState } from 'react'
import { Provider } from 'urql'
import { Chat } from './chat.tsx'
import { createManagementClient } from './client.ts'
import { Keys } from './keys.tsx'
import { LoginForm } from './login.tsx'
import { Today } from './today.tsx'
import { Usage } from './usage.tsx'

export function App() {
  const [accessToken, setAccessToken] = useState<string>()
  const [apiKey, setApiKey] = useState<string>()
  const client = useMemo(
    () => createManagementClient(accessToken, () => setAccessToken(undefined)),
    [accessToken],
  )
  return (
    <Provider value={client}>
      {accessToken === undefined ? (
        <LoginForm onLogin={setAccessToken} />
      ) : (
        <>
          <Today />
          <Usage />
          <Keys onCreate={setApiKey} />
          {apiKey !== undefined && <Chat apiKey={apiKey} />}
        </>
      )}
    </Provider>
  )
}
