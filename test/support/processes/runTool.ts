import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { getProgramPath } from '#scripts/steps.ts'
import { projectFolder } from '../fixtures/testProject.ts'

export type ToolResult = { exitCode: number; stdout: string; stderr: string }

/** Runs a check tool in a folder, regardless of its exit code. */
export function runTool(folder: string, name: string, parts: readonly string[]): Promise<ToolResult> {
  return runCommand(folder, join(projectFolder, getProgramPath({ command: name })), parts)
}

export function runCommand(folder: string, command: string, parts: readonly string[]): Promise<ToolResult> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024, timeout: 200_000 }
    execFile(command, parts, options, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(error)
      else resolve({ exitCode: Number(error?.code ?? 0), stdout, stderr })
    })
  })
}
