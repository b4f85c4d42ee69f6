import { z } from 'zod'
import { removeFile, uploadFile } from '../files.ts'
import { createSandbox, deleteSandbox } from '../sandboxes.ts'
import { closeTerminal, createTerminal, readTerminal, writeTerminal } from '../terminals.ts'
import { defineTool, type Tool } from './tool.ts'
import { formatToolSignature } from './toolSignature.ts'

const maxResults = 8

/**
 * Creates the two tools that replace all others, for callers that prefer to write a program over calling tools one by
 * one.
 * @param operations tools that programs can call
 */
export function createCodeTools(operations: () => readonly Tool[]): readonly Tool[] {
  return [
    defineTool({
      name: 'operations_search',
      description: `Search operations (sandboxes, terminals, domains, DNS, models, credits, x402 payments, identity) by keyword; returns TypeScript signatures`,
      group: 'code',
      effect: 'read',
      routes: [],
      input: { query: z.string().describe('Keywords; empty lists all names') },
      output: { operations: z.array(z.looseObject({ name: z.string(), description: z.string() })) },
      async run({ query }) {
        const words = query
          .toLowerCase()
          .split(/[^a-z0-9]+/)
          .filter((word) => word !== '')
        if (words.length === 0) {
          return { operations: operations().map(({ name, description }) => ({ name, description })) }
        }
        const scored = operations()
          .map((tool) => ({ tool, score: scoreTool(tool, words) }))
          .filter(({ score }) => score > 0)
          .sort((a, b) => b.score - a.score)
        return {
          operations: scored.slice(0, maxResults).map(({ tool }) => ({
            name: tool.name,
            description: tool.description,
            signature: formatToolSignature(tool),
          })),
        }
      },
    }),
    defineTool({
      name: 'operations_run',
      description:
        'Run a JavaScript module in a sandbox with Node. `await steward.NAME({…})` calls an operation. Returns console.log output and the value of `export default`. Without sandbox_id it runs in a temporary sandbox; with it, calls that affect anything else need approval.',
      group: 'code',
      effect: 'change',
      overwrites: true,
      openWorld: true,
      mayWait: true,
      price: 'credits',
      routes: [
        createSandbox,
        deleteSandbox,
        uploadFile,
        removeFile,
        createTerminal,
        readTerminal,
        writeTerminal,
        closeTerminal,
      ],
      input: {
        code: z
          .string()
          .min(1)
          .max(64 * 1024),
        sandbox_id: z.string().optional(),
      },
      output: { output: z.string(), value: z.unknown(), calls: z.int() },
      run: ({ code, sandbox_id: id }, { runProgram }) => runProgram(code, id),
    }),
  ]
}

function scoreTool({ name, description, group }: Tool, words: readonly string[]): number {
  const text = `${description} ${group}`.toLowerCase()
  return words.reduce((sum, word) => sum + (name.includes(word) ? 3 : 0) + (text.includes(word) ? 1 : 0), 0)
}
