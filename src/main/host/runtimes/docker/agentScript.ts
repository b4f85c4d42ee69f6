import { buildPerlScript, formatPerlArgument, readPerlPart } from '../perlScript.ts'
import { systemCallTable } from '../systemCallNumbers.ts'
import { agentMessageKinds, agentWindow, hostMessageKinds } from './agentMessages.ts'

/** First process of a container. Reads and runs the agent script. */
export const readAgentLoader = (): string => readPerlPart('agentLoader')

/**
 * Builds the script that the loader reads. It contains its argument and takes over the bytes that the loader has read
 * beyond it.
 */
export function buildAgentScript(): string {
  const argument = formatPerlArgument({
    tables: systemCallTable,
    window: agentWindow,
    requests: hostMessageKinds,
    responses: agentMessageKinds,
  })
  return `@ARGV = ('${argument.replaceAll(/['\\]/g, '\\$&')}', $input);\n${buildPerlScript('files', 'exec', 'agent')}`
}
