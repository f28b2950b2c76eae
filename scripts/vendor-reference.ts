import { VENDORS, type VendorWords } from '../apps/gateway/src/core/agents/translate/refusals/vendors.ts'
import { ERRORS } from '../apps/gateway/src/core/base/errors/errors.ts'
import { markdownTable } from './generated-parts.ts'

/** The table of docs/agents.md with the words of vendors. */
export function vendorReference(): Record<string, string> {
  const rows = VENDORS.flatMap(({ name, source, words }) =>
    words.map((each, index) => [
      index === 0 ? `[${name}](${source})` : '',
      wordsOf(each),
      each.statuses?.join(', ') ?? '',
      `${ERRORS[each.reason].status} \`${each.reason}\``,
    ]),
  )
  return { vendors: markdownTable(['Vendor', 'Words', 'Only with status', 'Answer'], rows) }
}

/** Codes as they are, and the pattern of a text, which quotation marks tell from them. */
function wordsOf({ codes = [], text }: VendorWords): string {
  const pattern = text === undefined ? [] : [`text \`${text.source}\``]
  return [...codes.map((code) => `\`${code}\``), ...pattern].join(', ')
}
