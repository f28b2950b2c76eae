#!/usr/bin/env node
import { FIRST_NODE, isNodeNewEnough } from './node-version.js'

/*
 * The entry of the command line. It is plain JavaScript, because an older Node cannot read the sources, and would print a
 * stack instead of the reason.
 */

if (isNodeNewEnough()) {
  await import('../src/cli/main.ts')
} else {
  console.error(`Trunkline needs Node ${FIRST_NODE} or later, and this is Node ${process.versions.node}.`)
  process.exitCode = 1
}
