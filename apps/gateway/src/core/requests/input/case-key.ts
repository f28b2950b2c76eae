/**
 * The form of a text in which texts that differ only in case are equal. It is stored beside names and usernames, because what
 * `lower` of PostgreSQL does depends on the locale of the database. All normal forms of a text are equal as well, and so are
 * both small sigmas, of which the one at the end of a word would otherwise hide words that go on.
 */
export function caseKey(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ')
}
