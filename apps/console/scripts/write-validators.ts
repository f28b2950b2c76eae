import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import Ajv from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'

/*
 * Compiles the schemas of openapi.json that the console's forms check into functions. They are compiled here because the
 * page's content security policy forbids to make code in the browser.
 */

const FORMS = ['CreateApiKey', 'UpdateApiKey', 'CreateUser', 'UpdateUser', 'SetPassword', 'ChangePassword']

const root = new URL('../../../', import.meta.url)
const target = new URL('../src/generated/', import.meta.url)
/** What the schemas say to people would only make the page larger. */
const withoutWords = (key: string, value: unknown) =>
  (key === 'description' && typeof value === 'string') || key === 'examples' ? undefined : value
const contract = JSON.parse(readFileSync(new URL('openapi.json', root), 'utf8'), withoutWords) as {
  components: { schemas: Record<string, object> }
}

const ajv = new Ajv.default({
  allErrors: true,
  code: { source: true, esm: true, lines: true },
  // The keywords of OpenAPI, such as `example`, and formats: the gateway checks those.
  strict: false,
  validateFormats: false,
})
for (const name of FORMS) ajv.addSchema(contract.components.schemas[name] ?? {}, name)
/** Ajv's helper that counts characters is a module of CommonJS, which a browser cannot load. */
const code = standalone
  .default(ajv, Object.fromEntries(FORMS.map((name) => [name, name])))
  .replace('require("ajv/dist/runtime/ucs2length").default', '(text) => [...text].length')
if (code.includes('require('))
  throw new Error('The validators need another helper that a browser cannot load.')

mkdirSync(target, { recursive: true })
writeFileSync(new URL('validators.js', target), code)
writeFileSync(
  new URL('validators.d.ts', target),
  [
    "import type { ContractCheck } from '../form/contract-resolver.ts'",
    "import type * as wire from '@trunkline/sdk'",
    ...FORMS.map((name) => `export declare const ${name}: ContractCheck<wire.${name}>`),
    '',
  ].join('\n'),
)
