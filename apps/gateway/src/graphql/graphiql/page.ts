/** The page around GraphiQL: fields for the two kinds of credentials. The script gives each operation the one that it takes. */
export function renderPage(
  files: string,
  options: { endpoint: string; keyFields: readonly string[] },
): string {
  // Within a script element, only `<` could end it.
  const json = JSON.stringify({ ...options, files }).replaceAll('<', '\\u003c')
  return pageOf(
    files,
    `<header>
      <label>Access token
        <input id="token" type="password" autocomplete="off" spellcheck="false" placeholder="run the tab Login">
      </label>
      <label>API key
        <input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="run the tab CreateKey">
      </label>
    </header>
    <main id="root"></main>
    <script type="application/json" id="options">${json}</script>
    <script src="${files}/graphiql.js"></script>
    <script src="${files}/page.js"></script>`,
    `<link rel="stylesheet" href="${files}/graphiql.css">`,
  )
}

/** What a browser gets instead of the page where it could execute nothing, not even the query that reads the schema. */
export function renderNotice(files: string): string {
  return pageOf(
    files,
    '<p class="notice">Queries cannot be tried here: this gateway executes only the documents that its operator trusts (<code>graphql.documents: trusted</code>). GraphiQL needs a gateway with <code>graphql.documents: any</code>.</p>',
  )
}

function pageOf(files: string, body: string, styles = ''): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Trunkline GraphQL</title>
    <link rel="icon" href="/favicon.ico">
    ${styles}
    <link rel="stylesheet" href="${files}/page.css">
  </head>
  <body class="no-focus-outline">
    ${body}
  </body>
</html>
`
}
