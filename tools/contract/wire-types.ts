import openapiTS, { astToString, type SchemaObject } from 'openapi-typescript'
import ts from 'typescript'

/** What this file reads of `openapi.json`; openapi-typescript checks the rest. */
interface Contract {
  readonly info: { readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, { readonly description?: string }>> }
}

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly responses: Readonly<Record<string, { readonly description: string }>>
}

/** Those whose parameters or bodies the SDK names, beside lists; of the others it uses only component schemas. */
const OPERATIONS = ['deleteConversation', 'deleteUpload', 'rateCall', 'readUsage', 'renameConversation']

const HEADER = '// Generated from openapi.json by `pnpm contract`. Do not edit.'

/**
 * The types of `packages/sdk/src/generated/wire.ts`, generated from the text of `openapi.json`: those of openapi-typescript for
 * what the SDK uses, a name for each component schema, and the union of all error reasons that the contract lists.
 */
export async function wireTypes(openapi: string): Promise<string> {
  const contract = JSON.parse(openapi) as Contract
  // A field with a default may be absent from a request.
  const options = { defaultNonNullable: false, transform: openUnion }
  const used = withoutUnused(contract)
  const source = JSON.stringify(used, describe(contract))
  const nodes = (await openapiTS(source, options)).filter((node) =>
    isNamed(node, ['components', 'operations']),
  )
  const types = inTsdoc(astToString(nodes))
  const names = Object.entries(used.components.schemas).map(
    ([name, { description = name }]) =>
      `${comment(description)}\nexport type ${name} = components["schemas"]["${name}"];`,
  )
  const reasons = reasonsOf(contract).map((reason) => `  | "${reason}"`)
  const union = `/** The stable words with which the gateway names its errors. */\nexport type ErrorReason =\n${reasons.join('\n')};`
  return `${[HEADER, types.trimEnd(), ...names, union].join('\n')}\n`
}

/** The names that the SDK exports of these types, which are all component schemas that it uses. */
export function recordNames(openapi: string): string {
  const { components } = withoutUnused(JSON.parse(openapi) as Contract)
  // The SDK has a class of this name.
  const exported = (name: string) => (name === 'Conversation' ? `${name} as ListedConversation` : name)
  const names = ['ErrorReason', ...Object.keys(components.schemas).map(exported)]
  return `${HEADER}\nexport type {\n${names.map((name) => `  ${name},`).join('\n')}\n} from './wire.ts'\n`
}

/** The reasons of errors and what the contract calls an extensible enum are known words, or any that a newer gateway has. */
function openUnion(
  schema: SchemaObject & { 'x-extensible-enum'?: string[] },
  { path = '' }: { path?: string },
) {
  const { factory, SyntaxKind } = ts
  const isReason = /[/_]reason(\/anyOf\/0)?$/.test(path) && schema.type === 'string' && !('enum' in schema)
  const words = schema['x-extensible-enum']?.map((word) =>
    factory.createLiteralTypeNode(factory.createStringLiteral(word)),
  )
  const known = isReason ? [factory.createTypeReferenceNode('ErrorReason')] : words
  if (known === undefined) return undefined
  const text = factory.createKeywordTypeNode(SyntaxKind.StringKeyword)
  const other = factory.createIntersectionTypeNode([text, factory.createTypeLiteralNode([])])
  return factory.createUnionTypeNode([...known, factory.createParenthesizedType(other)])
}

const isUsed = ({ operationId, tags }: Operation) =>
  OPERATIONS.includes(operationId) || (/^(?:list|count)[A-Z]/.test(operationId) && !tags.includes('openai'))

/** The same contract without the operations that the SDK does not name, and without the schemas of OpenAI's interface. */
function withoutUnused(contract: Contract): Contract {
  const { schemas } = contract.components
  const operations = Object.values(contract.paths).flatMap((path) => Object.values(path))
  const used = new Set<string>()
  const use = (value: unknown) => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue
      used.add(name)
      use(schemas[name])
    }
  }
  use(operations.filter(({ tags }) => !tags.includes('openai')))
  const paths = mapValues(contract.paths, (path) =>
    Object.fromEntries(
      Object.entries(path)
        .filter(([, operation]) => isUsed(operation))
        .map(([method, operation]) => [method, withoutErrors(operation)]),
    ),
  )
  const named = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)))
  return { ...contract, paths, components: { schemas: named } }
}

/** Every error has the same body, so their types for each operation would be two thirds of the file and say nothing. */
function withoutErrors(operation: Operation): Operation {
  const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
  const responses = successes.map(([status, response]) => [status, { ...response, headers: undefined }])
  return { ...operation, responses: Object.fromEntries(responses) }
}

function isNamed(node: ts.Node, names: readonly string[]): boolean {
  return ts.isInterfaceDeclaration(node) && names.includes(node.name.text)
}

/** Each response of an error lists its reasons in its description; those that belong to no operation are in the introduction. */
function reasonsOf({ info, paths }: Contract): readonly string[] {
  const responses = Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap(({ responses }) => Object.values(responses))
  const listed = responses.flatMap(({ description }) =>
    (description.match(/`reason`: ([a-z_, ]+)\./)?.[1] ?? '').split(', '),
  )
  const general = [...info.description.matchAll(/\d{3} `([a-z_]+)`/g)].map(([, reason = '']) => reason)
  return [...new Set([...listed, ...general])].filter((reason) => reason !== '').sort()
}

/** A replacer for JSON: a property that is a component has the description of the component, unless it has its own. */
function describe({ components }: Contract): (key: string, value: unknown) => unknown {
  return (_key, value) => {
    if (typeof value !== 'object' || value === null) return value
    // Its words are those of the union.
    if ('x-extensible-enum' in value) return { ...value, examples: undefined }
    if (!('$ref' in value)) return value
    const name = /^#\/components\/schemas\/(\w+)$/.exec(String(value.$ref))?.[1]
    const description = name === undefined ? undefined : components.schemas[name]?.description
    return { ...(description !== undefined && { description }), ...value }
  }
}

/** TSDoc has no tag for the description, which is the text of a comment before its tags. */
function inTsdoc(types: string): string {
  return types
    .replaceAll(/^( *\*)( Format: \S+)\n *\* @description /gm, '$1$2\n$1\n$1 ')
    .replaceAll(' (enum property replaced by openapi-typescript)', '')
    .replaceAll('@description ', '')
}

function mapValues<T, U>(object: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]))
}

const comment = (text: string): string => `/** ${text.replaceAll('*/', '*\\/')} */`
