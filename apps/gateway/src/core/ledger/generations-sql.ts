import { identityInSql } from './listed-conversations-sql.ts'

/**
 * Joins the generation of the conversation of the call `call`, at the time `m.clock`: 0, unless it was deleted before. Hardly any
 * conversation has a row.
 */
export const generationOf = (call: string): string => `LEFT JOIN LATERAL (
    SELECT g.generation, coalesce(g.deleting_until > m.clock, false) AS is_deleting
    FROM conversation_generations g WHERE g.identity = ${identityInSql(call)} LIMIT 1) generation ON ${call}.kind = 'chat'`

/** The reason to reject a call whose conversation is being deleted. */
export const GENERATION_REFUSAL = `
      WHEN is_deleting THEN 'conversation_busy'`
