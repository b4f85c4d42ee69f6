import { expect, test } from 'vitest'
import type { SandboxId } from '#shared/ids.ts'
import { copyForms } from './copyForms.ts'

test('copied commands name the address and the sandbox without the key', () => {
  const id = 'a'.repeat(32) as SandboxId
  const forms = copyForms({ id, terminal_url: `https://steward.example/terminal/${id}` })
  for (const { text } of forms) {
    expect(text).toContain('https://steward.example')
    expect(text).toContain(id)
  }
  expect(forms[0]?.text).toContain('x-api-key: $STEWARD_API_KEY')
})
