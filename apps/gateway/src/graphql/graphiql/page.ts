import type { Credential } from './credentials.ts'
import { tabsAt } from './tabs.ts'

interface PageOptions {
  readonly path: string
  /** The path below which the files of the page are. */
  readonly files: string
  readonly credentials: readonly Credential[]
  readonly now: Date
}

/** The page around GraphiQL: fields for the two kinds of credentials, and which operations take which. */
export function renderPage({ path, files, credentials, now }: PageOptions): string {
  const options = {
    endpoint: path,
    files,
    keyFields: credentials.flatMap(({ isKey, fields }) => (isKey ? fields : [])),
    tabs: tabsAt(now),
  }
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Trunkline GraphQL</title>
    <link rel="icon" href="/favicon.ico">
    <link rel="stylesheet" href="${files}/graphiql.css">
    <link rel="stylesheet" href="${files}/page.css">
  </head>
  <body class="no-focus-outline">
    <header>
      <label>Access token
        <input id="token" type="password" autocomplete="off" spellcheck="false" placeholder="run the tab Login">
      </label>
      <label>API key
        <input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="run the tab CreateKey">
      </label>
      <details>
        <summary>Which operation takes which?</summary>
        <div>
          <p>The page sends the right one in the header <code>Authorization</code>: ${listOf(options.keyFields)} get the API key, all others the access token or, without one, the API key. A header that you set in the tab <i>Headers</i> is sent instead. The fields fill themselves when a login or a new key arrives; they are forgotten when the page is closed.</p>
          <dl>
            ${credentials.map(entryOf).join('\n            ')}
          </dl>
        </div>
      </details>
      <output id="sent"></output>
    </header>
    <main id="root"></main>
    <output id="text"></output>
    <script type="application/json" id="options">${jsonInHtml(options)}</script>
    <script src="${files}/graphiql.js"></script>
    <script src="${files}/page.js"></script>
  </body>
</html>
`
}

/** What a browser gets instead of the page where it could execute nothing, not even the query that reads the schema. */
export function renderNotice(files: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Trunkline GraphQL</title>
    <link rel="icon" href="/favicon.ico">
    <link rel="stylesheet" href="${files}/page.css">
  </head>
  <body>
    <p class="notice">Queries cannot be tried here: this gateway executes only the documents that its operator trusts (<code>graphql.documents: trusted</code>). GraphiQL needs a gateway with <code>graphql.documents: any</code>.</p>
  </body>
</html>
`
}

function entryOf({ words, fields }: Credential): string {
  return `<dt>${inHtml(words)}</dt><dd>${listOf(fields)}</dd>`
}

const listOf = (fields: readonly string[]) => fields.map((field) => `<code>${field}</code>`).join(' ')

/** Words are our own. In code style they stand between backticks. */
function inHtml(words: string): string {
  return words
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/`([^`]*)`/g, '<code>$1</code>')
}

/** Within a script element, only `<` could end it. */
function jsonInHtml(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}
