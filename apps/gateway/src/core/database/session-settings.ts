/**
 * The settings of every connection to a server. They are set by statements, because connection poolers reject them as
 * start-up parameters.
 *
 * - Prisma writes times without a zone and reads them as UTC.
 * - Without statistics PostgreSQL overestimates the cost of statements and compiles their plans, which takes 15 ms where
 *   the statement itself takes 2.
 */
export const SESSION_SETTINGS = "SET TimeZone = 'UTC'; SET jit = off"
