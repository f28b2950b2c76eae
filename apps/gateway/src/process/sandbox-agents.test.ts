import { expect, test } from 'vitest'
import { parseConfig } from '#config/load.ts'
import { withSandboxAgents } from './sandbox-agents.ts'

test('an emulator is said to be one by its agent and by each of its deployments', () => {
  const keys = { baseUrl: 'http://127.0.0.1:8103/v1', apiKey: 'app-sandbox-chat' }
  const entries = {
    dify: {
      platform: 'dify',
      deployments: [
        { id: 'main', ...keys },
        { id: 'second', ...keys },
      ],
    },
    fastgpt: { platform: 'fastgpt', ...keys },
  }
  const { agents } = withSandboxAgents(parseConfig(undefined, {}), entries)
  expect(
    agents.map(({ id, sandbox, deployments }) => [
      id,
      sandbox,
      deployments.map(({ agent }) => agent.sandbox),
    ]),
  ).toEqual([
    ['dify', true, [true, true]],
    ['fastgpt', true, [true]],
  ])
})
