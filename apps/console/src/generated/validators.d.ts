import type { ContractCheck } from '../form/contract-resolver.ts'
import type * as wire from '@trunkline/sdk'
export declare const CreateApiKey: ContractCheck<wire.CreateApiKey>
export declare const UpdateApiKey: ContractCheck<wire.UpdateApiKey>
export declare const CreateUser: ContractCheck<wire.CreateUser>
export declare const UpdateUser: ContractCheck<wire.UpdateUser>
export declare const SetPassword: ContractCheck<wire.SetPassword>
export declare const ChangePassword: ContractCheck<wire.ChangePassword>
