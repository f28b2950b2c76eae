/**
 * The settings of every connection to a server. They are set by statements, because connection poolers reject them as
 * start-up parameters.
 *
 * - Prisma writes times without a zone and reads them as UTC.
 * - Without statistics PostgreSQL overestimates the cost of statements and compiles their plans, which takes 15 ms where
 *   the statement itself takes 2.
 */
export const SESSION_SETTINGS = "SET TimeZone = 'UTC'; SET jit = off"

/**
 * Those of connections whose statements touch a few rows of large tables. The server keeps the plan of a statement with its
 * connection, and one that was made while a table was almost empty may read all of it, for good where no autovacuum discards plans.
 * Without scans of whole tables, the planner has an index for every statement of a call
 * (docs/decisions/0100-plans-made-while-tables-are-empty.md).
 */
export const CALL_SETTINGS = `${SESSION_SETTINGS}; SET enable_seqscan = off`
