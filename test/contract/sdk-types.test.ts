import { readFile } from 'node:fs/promises'
import { recordNames, wireTypes } from '@trunkline/contract-tools/wire-types'
import { printVisitorErrors } from '@trunkline/gateway/src/server/contract.ts'
import { expect, test } from 'vitest'
import {
  GRAPHQL_CONTRACT,
  printSdkVersion,
  RECORD_NAMES,
  SDK_VERSION,
  VISITOR_ERRORS,
  WORD_TYPES,
} from '../../scripts/print-contract.ts'
import { wordTypes } from '../../scripts/word-types.ts'
import { CONTRACT_TEXT } from '../support/contract/contract.ts'

const WIRE_TYPES = new URL('../../packages/sdk/src/generated/wire.ts', import.meta.url)

test('the types of the SDK are those of openapi.json (after a change: pnpm contract)', async () => {
  expect(await readFile(WIRE_TYPES, 'utf8')).toBe(await wireTypes(CONTRACT_TEXT))
  expect(await readFile(RECORD_NAMES, 'utf8')).toBe(recordNames(CONTRACT_TEXT))
})

test('the words of the SDK are those of schema.graphql (after a change: pnpm contract)', async () => {
  const schema = await readFile(GRAPHQL_CONTRACT, 'utf8')
  expect(await readFile(WORD_TYPES, 'utf8')).toBe(wordTypes(schema, CONTRACT_TEXT))
})

test('what the SDK tells visitors is what the table of errors allows (after a change: pnpm contract)', async () => {
  expect(await readFile(VISITOR_ERRORS, 'utf8')).toBe(printVisitorErrors())
})

test('the version that the SDK tells is that of its package', async () => {
  expect(await readFile(SDK_VERSION, 'utf8')).toBe(await printSdkVersion())
})
