import { expect, onTestFinished, test } from 'vitest'
import { html } from './html.ts'
import { createSecretBuffer } from './secretBuffer.ts'
import { createSecurePromptSessions } from './securePromptSessions.ts'
import type { SecurePromptFlow, SecurePromptForm } from './securePromptStep.ts'

const createForm =
  (fields: Record<string, string>): SecurePromptForm =>
  (name) =>
    fields[name] ?? ''

test.each([
  ['done', undefined],
  ['wrong', new Error('not that')],
])('a secure prompt that ends during its step holds no secret afterwards: %s', async (_, error) => {
  const sessions = createSecurePromptSessions({ now: Date.now, onUnexpected: () => {} })
  onTestFinished(() => sessions.close())
  const secret = createSecretBuffer()
  const running = Promise.withResolvers<void>()
  const flow: SecurePromptFlow = {
    first: {
      show: () => ({ title: 'Words', body: html`` }),
      async take() {
        await running.promise
        secret.hold('twelve words')
        if (error) throw error
        return flow.first
      },
    },
    forget: secret.forget,
  }
  const context = { window: 'http://127.0.0.1:1', theme: 'light' } as const
  const { document } = sessions.open(sessions.issue({ flow, context, endsWithLock: true }).ticket)
  const key = /name="key" value="([\w-]{43})"/.exec(document)?.[1] ?? ''
  const answer = sessions.take(createForm({ key, do: 'next' }))
  sessions.onLocked()
  running.resolve()
  await expect(answer).rejects.toMatchObject({ code: 'secure-prompt/ended' })
  expect(() => secret.read()).toThrow('The secret was erased.')
})
