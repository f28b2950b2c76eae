import { readFile } from 'node:fs/promises'
import { wireTypes } from '@trunkline/contract-tools/wire-types'
import { printVisitorErrors } from '@trunkline/gateway/src/server/contract.ts'
import { expect, test } from 'vitest'
import { printSdkVersion, SDK_VERSION, VISITOR_ERRORS } from '../../scripts/print-contract.ts'
import { CONTRACT_TEXT } from '../support/contract/contract.ts'

const WIRE_TYPES = new URL('../../packages/sdk/src/generated/wire.ts', import.meta.url)

test('the types of the SDK are those of openapi.json (after a change: pnpm contract)', async () => {
  expect(await readFile(WIRE_TYPES, 'utf8')).toBe(await wireTypes(CONTRACT_TEXT))
})

test('what the SDK tells visitors is what the table of errors allows (after a change: pnpm contract)', async () => {
  expect(await readFile(VISITOR_ERRORS, 'utf8')).toBe(printVisitorErrors())
})

test('the version that the SDK tells is that of its package', async () => {
  expect(await readFile(SDK_VERSION, 'utf8')).toBe(await printSdkVersion())
})
