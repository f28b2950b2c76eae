import manifest from '../../../../packages/trunkline/package.json' with { type: 'json' }

/**
 * Which build this is. The package is built with the commit of its sources in the place of `process.env.TRUNKLINE_COMMIT`;
 * sources that run as they are read the variable, and without it have the commit `unknown`.
 */
export const BUILD = {
  version: manifest.version,
  commit: process.env.TRUNKLINE_COMMIT || 'unknown',
} as const
