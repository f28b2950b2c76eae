import { isObject, type JsonObject, listOf, objectOf, textOf } from '#core/base/values/json.ts'

/** How likely one token was, in the form of the Responses API. */
interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly unknown[]
  readonly top_logprobs?: readonly TokenLogprob[]
}

/** A source of a text, in the form of the Responses API. */
export interface UrlCitation {
  readonly type: 'url_citation'
  readonly url: string
  readonly title: string
  readonly start_index: number
  readonly end_index: number
}

/** What a text has beside its characters. */
export interface TextExtras {
  readonly annotations: readonly UrlCitation[]
  readonly logprobs: readonly TokenLogprob[]
}

export const NO_EXTRAS: TextExtras = { annotations: [], logprobs: [] }

export function outputText(text: string, { annotations, logprobs }: TextExtras = NO_EXTRAS) {
  return { type: 'output_text', text, annotations, logprobs }
}

/** The probabilities of a chat completion, token by token. What has another form than OpenAI's is left out. */
export function tokenLogprobs({ content }: JsonObject): readonly TokenLogprob[] {
  return listOf(content).flatMap((each) => {
    const read = tokenLogprob(each)
    return read === undefined
      ? []
      : [
          {
            ...read,
            top_logprobs: listOf(objectOf(each).top_logprobs).flatMap((top) => tokenLogprob(top) ?? []),
          },
        ]
  })
}

function tokenLogprob(value: unknown): TokenLogprob | undefined {
  const { token, logprob, bytes } = objectOf(value)
  return typeof token === 'string' && typeof logprob === 'number'
    ? { token, logprob, bytes: listOf(bytes) }
    : undefined
}

/**
 * The annotations of a chat completion that name a web page. Clients refuse a response with annotations of other kinds, or
 * without a title or a place: a page without a title has its address, and one without a place is about the whole text.
 */
export function urlCitations(annotations: readonly unknown[], textLength: number): readonly UrlCitation[] {
  return annotations.flatMap((annotation) => {
    const named = objectOf(annotation)
    const cited = isObject(named.url_citation) ? named.url_citation : named
    const url = textOf(cited.url)
    if (url === undefined || !['url_citation', undefined].includes(textOf(named.type))) return []
    const hasPlace = Number.isInteger(cited.start_index) && Number.isInteger(cited.end_index)
    return [
      {
        type: 'url_citation',
        url,
        title: textOf(cited.title) ?? url,
        start_index: hasPlace ? Number(cited.start_index) : 0,
        end_index: hasPlace ? Number(cited.end_index) : textLength,
      },
    ]
  })
}
