// Generated from the version in package.json by `pnpm contract`. Do not edit.
/** The version of this package. */
export const VERSION = '0.1.0'
