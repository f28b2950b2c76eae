/**
 * Joins the id of the pause at which the conversation of the call waits, or of the one that the call names, wherever it stands. Pauses
 * that are claimed are closed. The content of a pause is written by a platform, so it takes no part in the statement of all callers.
 */
export const openPauseOf = (call: string): string => {
  const isItsOwn = `p.owner_id = ${call}.owner_id AND p.agent = ${call}.agent AND p.app = ${call}.app
      AND p.end_user = ${call}.end_user AND p.claimed_by IS NULL`
  return `LEFT JOIN LATERAL (
    SELECT own.id AS open_pause
    FROM (
      SELECT p.id FROM pauses p
      WHERE ${call}.answers IS NULL AND p.conversation = ${call}.conversation AND ${isItsOwn}
      UNION ALL
      SELECT p.id FROM pauses p WHERE p.id = ${call}.answers AND ${isItsOwn}
    ) own
    ORDER BY own.id DESC LIMIT 1) pause ON ${call}.kind = 'chat' AND ${call}.claims IS NULL`
}

/** The reason to reject a call for its pause: it is decided outside of the database whether the call is the answer. */
export const PAUSE_REFUSAL = `
      WHEN open_pause IS NOT NULL THEN 'pause_open'
      WHEN answers IS NOT NULL AND claims IS NULL THEN 'pause_over'`

/** The sixth element of an answer, of the row `r`. */
export const PAUSE_ANSWER = `CASE WHEN r.refusal = 'pause_open' THEN r.open_pause END`

/**
 * Takes the pauses that the calls of the CTE `within_quota` claim: of calls that claim the same one gets it. The update waits for a
 * statement that is about to commit its claim, and then finds the pause claimed. The CTE `answering` is without those that came too
 * late.
 */
export const PAUSES_TAKEN = `), taken AS (
  UPDATE pauses p SET claimed_by = w.id, claimed_at = w.at
  FROM within_quota w
  WHERE p.id = w.claims AND p.id = ANY (ARRAY(SELECT claims FROM within_quota)) AND p.owner_id = w.owner_id AND p.claimed_by IS NULL
  RETURNING p.id, p.claimed_by
), answering AS MATERIALIZED (
  SELECT * FROM within_quota WHERE claims IS NULL OR id IN (SELECT claimed_by FROM taken)
`
