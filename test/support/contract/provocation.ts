import type { Operation } from './contract.ts'
import type { ContractGateway, OperationRequest } from './contract-gateway.ts'

/** Makes the running gateway return a documented status. */
export interface Provocation {
  readonly what: string
  readonly status: number
  readonly reason?: string
  /** Whether it changes rows beside the gateway, of which an embedded database has no other user. */
  readonly needsServer?: true
  /** Whether the provocation applies to this operation. */
  of(operation: Operation): boolean
  /** Returns the request to send, usually a variation of `good`, which is one that succeeds. */
  request(good: OperationRequest, gateway: ContractGateway): OperationRequest | Promise<OperationRequest>
}

/** A provocation for a single operation. */
export function only(
  operationId: string,
  status: number,
  reason: string | undefined,
  what: string,
  request: Provocation['request'],
): Provocation {
  return {
    what,
    status,
    ...(reason !== undefined && { reason }),
    of: ({ id }) => id === operationId,
    request,
  }
}
