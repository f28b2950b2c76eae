/**
 * The options of the field `totalCount` of a connection. Pothos passes the function that counts along with the page, so that
 * nothing is counted unless the field is selected, and nothing is read if only this field is.
 */
export const TOTAL_COUNT = {
  description: 'How many items there are on all pages.',
  extensions: { pothosPrismaTotalCount: true },
  resolve: (page: object): number | Promise<number> => (page as Counted).totalCount(),
}

interface Counted {
  totalCount(): number | Promise<number>
}
