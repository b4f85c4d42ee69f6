import { buildPerlScript, formatPerlArgument, readPerlPart } from '../perlScript.ts'
import { systemCallTable } from '../systemCallNumbers.ts'
import { agentWindow, answers, asks } from './agentMessages.ts'

/** First process of a container: waits for the agent's script. */
export const readAgentLoader = (): string => readPerlPart('agentLoader')

/** The script that the loader waits for. It brings its argument along, and takes over what the loader has read beyond it. */
export function buildAgentScript(): string {
  const argument = formatPerlArgument({ tables: systemCallTable, window: agentWindow, asks, answers })
  return `@ARGV = ('${argument.replaceAll(/['\\]/g, '\\$&')}', $input);\n${buildPerlScript('files', 'agent')}`
}
