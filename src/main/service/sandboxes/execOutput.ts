import { chooseEncoding } from '../base/chooseEncoding.ts'

export type TextOutput = { stdout: string; stderr: string; encoding: 'utf8' | 'base64' }

/** Encodes both streams as text, or both as base64. */
export function encodeOutput(output: { stdout: Buffer; stderr: Buffer; truncated: boolean }): TextOutput {
  const stdout = output.truncated ? trimPartialCharacter(output.stdout) : output.stdout
  const stderr = output.truncated ? trimPartialCharacter(output.stderr) : output.stderr
  const encoding = chooseEncoding(stdout, stderr)
  return { stdout: stdout.toString(encoding), stderr: stderr.toString(encoding), encoding }
}

/** Removes an incomplete character, of up to four bytes, at the end of a truncated stream. */
function trimPartialCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}
