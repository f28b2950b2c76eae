import type { IncomingHttpHeaders } from 'node:http'
import type { ServerCallContext, User } from '@a2a-js/sdk/server'
import { asRecord } from '@trunkline/sandbox/src/serving/narrow.ts'
import type { Request } from 'express'
import { Connection } from './connection.ts'
import { readWireRequest } from './wire-request.ts'

/** Who calls. The SDK passes it on to the executor, which finds in it the connection that a fault must strike. */
export class Caller implements User {
  readonly isAuthenticated = true
  /** Tasks belong to a user; all who have the key are one. */
  readonly userName = 'sandbox'
  readonly headers: IncomingHttpHeaders
  readonly connection: Connection

  constructor(headers: IncomingHttpHeaders, connection: Connection) {
    this.headers = headers
    this.connection = connection
  }
}

/** Builds the SDK's user of a request whose body has been read. */
export async function readCaller({ originalUrl, headers, body, res }: Request): Promise<Caller> {
  const { pathname } = new URL(originalUrl, 'http://agent')
  const { kind } = readWireRequest(pathname, asRecord(body))
  return new Caller(headers, new Connection(res, kind === 'stream'))
}

export function callerOf({ user }: ServerCallContext): Caller {
  if (user instanceof Caller) return user
  throw new Error('the SDK has lost the caller')
}
