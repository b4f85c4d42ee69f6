import { expect, test } from 'vitest'
import { isWithinSandbox } from './sandboxAuthority.ts'
import { toolTable } from './toolTable.ts'

const ownId = 'a'.repeat(32)
const within = (sandbox_id: string) =>
  toolTable.filter((tool) => isWithinSandbox(tool, { sandbox_id }, ownId)).map(({ name }) => name)

test('limits calls from a sandbox to itself and to public reads', () => {
  const anybody = ['domain_search', 'domain_check', 'domain_pricing']
  expect(within('b'.repeat(32)).filter((name) => !anybody.includes(name))).toEqual([])
  expect(within(ownId)).toEqual(expect.arrayContaining(['sandbox_exec', 'sandbox_pty_write', ...anybody]))
})

test.each([
  ...['x402_fetch', 'x402_check', 'x402_discover', 'chat_completions', 'credits_balance', 'domain_list'],
  ...['sandbox_list', 'sandbox_create', 'sandbox_terminal_session', 'sandbox_add_domain', 'approval_status'],
])('does not allow %s from a sandbox', (name) => {
  expect(within(ownId)).not.toContain(name)
})
