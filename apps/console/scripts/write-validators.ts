import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Ajv from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'

const FORMS = ['CreateApiKey', 'UpdateApiKey', 'CreateUser', 'UpdateUser', 'SetPassword', 'ChangePassword']
const CONTRACT = new URL('../../../openapi.json', import.meta.url)

/**
 * Compiles the schemas of openapi.json that the console's forms check into functions. They are compiled beforehand because
 * the page's content security policy forbids to make code in the browser.
 */
export async function writeValidators(folder: string): Promise<void> {
  const contract = JSON.parse(await readFile(CONTRACT, 'utf8'), withoutWords) as {
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
  // Ajv's helper that counts characters is a module of CommonJS, which a browser cannot load.
  const code = standalone
    .default(ajv, Object.fromEntries(FORMS.map((name) => [name, name])))
    .replace('require("ajv/dist/runtime/ucs2length").default', '(text) => [...text].length')
  if (code.includes('require('))
    throw new Error('The validators need another helper that a browser cannot load.')

  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'validators.js'), code)
  await writeFile(
    join(folder, 'validators.d.ts'),
    [
      "import type { ContractCheck } from '../form/contract-resolver.ts'",
      "import type * as wire from '@trunkline/sdk'",
      ...FORMS.map((name) => `export declare const ${name}: ContractCheck<wire.${name}>`),
      '',
    ].join('\n'),
  )
}

/** What the schemas say to people would only make the page larger. */
function withoutWords(key: string, value: unknown): unknown {
  return (key === 'description' && typeof value === 'string') || key === 'examples' ? undefined : value
}
