import { expect, test } from 'vitest'
import { createLockableSigner } from '#test/support/fakes/lockableSigner.ts'
import { approvalsOfTest, rule, withRules } from '#test/support/fixtures/approvals.ts'
import type { ApprovalDialog } from './approvalDialog.ts'
import type { ConfirmationText } from './describeConfirmation.ts'
import { createPolicyConfirmation } from './policyConfirmation.ts'

const failsWith = (code: string) => expect.objectContaining({ code })
const { signal } = new AbortController()
const looser = withRules([rule({ effect: 'allow', kind: 'siwe', max_amount_micro_usd: '5000000' })])

function openPolicy(answer?: () => boolean) {
  const signer = createLockableSigner()
  const approvals = approvalsOfTest({ signer })
  const wishes: ConfirmationText[] = []
  const dialog: ApprovalDialog | undefined = answer && {
    confirm: async () => false,
    async confirmPolicy(words) {
      wishes.push(words)
      return answer()
    },
    announce() {},
  }
  return {
    ...approvals,
    signer,
    seen: wishes,
    policy: createPolicyConfirmation({ approvals: approvals.approvals, dialog }),
  }
}

test('applies a stricter policy and the stop switch without confirmation', async () => {
  const { policy, seen: wishes } = openPolicy(() => false)
  expect((await policy.change(withRules([rule({ effect: 'deny' })]), signal)).rules).toHaveLength(1)
  expect((await policy.switchStop(true, signal)).stopped).toBe(true)
  expect(wishes).toEqual([])
})

test('requires a system dialog to loosen the policy or release the stop switch', async () => {
  let yes = false
  const { policy, approvals, signer, seen: wishes } = openPolicy(() => yes)
  approvals.switchStop(true)
  const before = approvals.policy()
  await expect(policy.change(looser, signal)).rejects.toThrow(failsWith('policy/confirmation'))
  await expect(policy.switchStop(false, signal)).rejects.toThrow(failsWith('policy/confirmation'))
  expect(approvals.policy()).toEqual(before)
  expect(wishes.map(({ lines }) => lines)).toEqual([
    [{ label: 'New rule 1', value: 'Anyone may sign in with Ethereum up to $5.00 to any site without asking you.' }],
    [],
  ])
  yes = true
  expect((await policy.change(looser, signal)).rules).toEqual(looser.rules)
  expect((await policy.switchStop(false, signal)).stopped).toBe(false)
  signer.setUnlocked(false)
  const higher = { ...looser, confirm_above_micro_usd: '99000000' }
  await expect(policy.change(higher, signal)).rejects.toThrow(failsWith('wallet/locked'))
  expect(wishes).toHaveLength(4)
})

test.each([
  ['with dialogs of the system', () => false],
  ['with secure prompts', undefined],
])('releases the stop switch without a wallet but rejects a looser policy, %s', async (_, answer) => {
  const { policy, approvals, signer, seen: wishes } = openPolicy(answer)
  signer.removeWallet()
  approvals.switchStop(true)
  expect((await policy.switchStop(false, signal)).stopped).toBe(false)
  await expect(policy.change(looser, signal)).rejects.toThrow(failsWith('wallet/absent'))
  expect(policy.pending()).toBeUndefined()
  expect(approvals.policy().rules).toEqual([])
  expect(wishes).toEqual([])
})

test('without system dialogs a secure prompt applies only the policy it was opened for', async () => {
  const { policy, approvals } = openPolicy()
  const higher = { ...withRules([]), confirm_above_micro_usd: '99000000' }
  expect(policy.pending()).toBeUndefined()
  await expect(policy.change(higher, signal)).rejects.toThrow(failsWith('policy/confirmation'))
  const pending = policy.pending()
  expect(pending?.lines).toEqual([{ label: 'Extra confirmation', value: 'above $99.00, was above $10.00' }])
  const denies = withRules([rule({ effect: 'deny' })])
  await policy.change(denies, signal)
  expect(() => pending?.apply()).toThrow('changed in the meantime')
  expect(approvals.policy().rules).toEqual(denies.rules)
  await expect(policy.change(higher, signal)).rejects.toThrow(failsWith('policy/confirmation'))
  expect(policy.pending()?.apply()).toMatchObject(higher)
})

test('rejects a policy change too large to review', async () => {
  const { policy, seen: wishes } = openPolicy(() => true)
  const many = Array.from({ length: 21 }, (_, index) =>
    rule({ id: `r${index}`, effect: 'allow', host: `h${index}.example` }),
  )
  await expect(policy.change(withRules(many), signal)).rejects.toThrow('in smaller steps')
  expect(wishes).toEqual([])
})
