import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/**
 * Where Debian installs the Chromium that never opens a window. The whole browser starts processes for windows and tabs that
 * nobody sees, and each page takes three times as much processor time.
 */
const CHROMIUM = '/usr/bin/chromium-headless-shell'

/** False on a machine without a browser, where tests that need one are skipped, unless REQUIRE_SERVICES is set. */
export const HAS_BROWSER = existsSync(CHROMIUM) || Boolean(process.env.REQUIRE_SERVICES)

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      // Machines of tests have no graphics card, and an emulated one takes most of the processor.
      '--disable-gpu',
    ],
  })
}

let shared: Promise<Browser> | undefined

/** The browser that the files of a worker share, each with contexts of its own. It ends with the worker. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launchBrowser()
  return shared
}
