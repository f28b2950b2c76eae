import type { IncomingHttpHeaders } from 'node:http'
import type { AgentCard, AgentInterface } from '@a2a-js/sdk'

/** Returns the URL at which a client reaches the agent, which a proxy may have given a prefix. */
export function originOf({ host = 'localhost', 'x-forwarded-prefix': prefix }: IncomingHttpHeaders): string {
  return `http://${host}${[prefix].flat().at(0) ?? ''}`
}

/** The card with which the agent describes itself. The first interface is the one that it prefers. */
export function cardAt(origin: string): AgentCard {
  return {
    name: 'Sandbox',
    description: 'Plays the commands of the sandbox.',
    supportedInterfaces: [
      interfaceAt(`${origin}/rest`, 'HTTP+JSON', '1.0'),
      interfaceAt(`${origin}/rpc`, 'JSONRPC', '1.0'),
      interfaceAt(`${origin}/rpc`, 'JSONRPC', '0.3'),
      interfaceAt(`${origin}/rest`, 'HTTP+JSON', '0.3'),
    ],
    provider: undefined,
    version: '1.0.0',
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true, extensions: [] },
    securitySchemes: {
      bearer: {
        scheme: {
          $case: 'httpAuthSecurityScheme',
          value: { description: '', scheme: 'Bearer', bearerFormat: '' },
        },
      },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: ['text/plain', 'application/json', 'image/png', 'application/pdf'],
    defaultOutputModes: ['text/plain', 'application/json', 'image/png', 'application/pdf'],
    skills: [
      {
        id: 'commands',
        name: 'Commands',
        description: 'Answers any question, and fails in the way that a command in it names.',
        tags: ['testing'],
        examples: ['sandbox:slow What is a gateway?'],
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    signatures: [],
  }
}

function interfaceAt(url: string, protocolBinding: string, protocolVersion: string): AgentInterface {
  return { url, protocolBinding, protocolVersion, tenant: '' }
}
