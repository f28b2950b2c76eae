import type { Operation } from './contract.ts'
import type { ContractGateway, OperationRequest } from './contract-gateway.ts'

/** How a documented status is got from the running gateway. */
export interface Provocation {
  readonly what: string
  readonly status: number
  readonly reason?: string
  /** The operations that it is for. */
  of(operation: Operation): boolean
  /** Given a request that succeeds. */
  request(good: OperationRequest, gateway: ContractGateway): OperationRequest | Promise<OperationRequest>
}

/** One of a single operation. */
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
