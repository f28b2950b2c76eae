import { useQuery } from '@apollo/client/react'
import { useState } from 'react'
import { UsageByAgent } from '../documents.ts'
import { daysOf, lastMonth } from '../month.ts'

export function Usage() {
  const [month, setMonth] = useState(lastMonth)
  const { data, loading, error } = useQuery(UsageByAgent, {
    variables: daysOf(month),
    // Shows what the cache has, and reads it again, because calls go on while the page is open.
    fetchPolicy: 'cache-and-network',
  })
  const usage = data?.usage
  return (
    <section>
      <h2>Usage</h2>
      <label>
        Month{' '}
        <input
          type="month"
          required
          value={month}
          onChange={({ target }) => target.value !== '' && setMonth(target.value)}
        />
      </label>
      {error !== undefined && <p role="alert">{error.message}</p>}
      {loading && usage == null && <p>Loading …</p>}
      {usage != null && (
        <table>
          <thead>
            <tr>
              <th>Agent</th>
              <th>Calls</th>
              <th>Failed</th>
              <th>Share</th>
            </tr>
          </thead>
          <tbody>
            {usage.groups.map(({ agentId, totals }) => (
              <tr key={agentId}>
                <td>{agentId}</td>
                <td>{totals.calls}</td>
                <td>{totals.failedCalls}</td>
                <td>
                  <meter max={usage.totals.calls} value={totals.calls} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
