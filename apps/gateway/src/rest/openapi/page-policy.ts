import { createHash } from 'node:crypto'

/**
 * The Content-Security-Policy of a page whose scripts are files of its own origin and the inline scripts that it contains. The
 * inline ones are allowed by hashes of the page as it is sent, so that the policy cannot differ from a page that a
 * dependency writes.
 *
 * @param connectTo further origins that the page may send requests to
 */
export function pagePolicy(html: string, connectTo: readonly string[]): string {
  const hashes = [...html.matchAll(INLINE_SCRIPT)].map(([, script = '']) => `'sha256-${sha256(script)}'`)
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(' '),
    // The page's script inserts its style sheet, and components set styles of their own.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    ["connect-src 'self'", ...connectTo].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** A script element without a source. */
// Linear time: not needed for our own pages.
const INLINE_SCRIPT = /<script\b(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script\s*>/gi

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
