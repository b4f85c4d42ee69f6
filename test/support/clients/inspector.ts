import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Json } from '../processes/runningService.ts'

/** Output of the Inspector CLI, or its error. */
export type InspectorAnswer = { printed: Json; failure: string | undefined }

/**
 * Runs `mcp-inspector --cli` with each of these argument lists, sequentially in one process. Each run opens a new
 * connection.
 */
export async function inspector(
  runs: readonly (readonly string[])[],
  environment: Record<string, string>,
): Promise<InspectorAnswer[]> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  })
  child.stdin.end(JSON.stringify(runs))
  const answers = (await text(child.stdout)).split('\n').filter((line) => line !== '')
  return answers.map((line) => JSON.parse(line) as InspectorAnswer)
}

if (import.meta.main) {
  const packagePath = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')
  const { runCli } = (await import(join(dirname(packagePath), 'clients/cli/build/index.js'))) as {
    runCli(parts: readonly string[]): Promise<void>
  }
  const out = process.stdout.write.bind(process.stdout)
  for (const parts of JSON.parse(await text(process.stdin)) as string[][]) {
    let printed = ''
    process.stdout.write = ((said: string, ...[callbacks]: unknown[]) => {
      printed += said
      if (typeof callbacks === 'function') callbacks()
      return true
    }) as typeof process.stdout.write
    const error = await runCli(['node', 'inspector-cli', ...parts]).then(
      () => undefined,
      (it: unknown) => String(it),
    )
    process.stdout.write = out
    out(`${JSON.stringify({ printed: parseOutput(printed), failure: error })}\n`)
  }
  process.exit(0)
}

function parseOutput(said: string): unknown {
  try {
    return JSON.parse(said)
  } catch {
    return said
  }
}
