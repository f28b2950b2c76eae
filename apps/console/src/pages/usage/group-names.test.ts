import { expect, it } from 'vitest'
import type { GroupNameFragment } from '../../generated/graphql.ts'
import { groupFilter, groupNames } from './group-names.ts'

const WORDS = { none: '(none)', outcome: (outcome: string) => outcome.toLowerCase() }

function group(given: Partial<GroupNameFragment>): GroupNameFragment {
  const nothing = { agentId: null, agent: null, appId: null, model: null, keyId: null, key: null }
  return { ...nothing, ownerId: null, owner: null, endUser: null, outcome: null, ...given }
}

it('the name of a group joins the names of what its calls have in common', () => {
  expect(
    groupNames(
      [
        group({ agentId: 'dify', agent: { name: 'Dify' }, outcome: 'DONE' }),
        group({ agentId: 'gone', outcome: 'TIMEOUT' }),
        group({ agentId: '', outcome: 'DONE' }),
      ],
      WORDS,
    ),
  ).toEqual(['Dify · done', 'gone · timeout', '(none) · done'])
})

it('names of groups tell keys with the same name apart', () => {
  const bot = (keyPrefix: string) => group({ keyId: keyPrefix, key: { name: 'bot', keyPrefix } })
  const wiki = group({ keyId: 'c', key: { name: 'wiki', keyPrefix: 'tl_c' } })
  expect(groupNames([bot('tl_a'), bot('tl_b'), wiki], WORDS)).toEqual(['bot (tl_a)', 'bot (tl_b)', 'wiki'])
})

it('a group leads to its calls, if a list can have just these', () => {
  expect(groupFilter(group({ agentId: 'dify', appId: '', outcome: 'TIMEOUT' }))).toEqual({
    agent: 'dify',
    app: '',
    outcome: 'TIMEOUT',
  })
  expect(groupFilter(group({ endUser: '(other)' }))).toBeUndefined()
  expect(groupFilter(group({ agentId: '' }))).toBeUndefined()
})
