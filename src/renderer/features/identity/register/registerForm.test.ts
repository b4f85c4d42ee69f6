import { expect, test } from 'vitest'
import { WalletAccountId } from '#shared/contract/wallet.ts'
import { type RegisterForm, toRegistrationInput, validateRegisterForm } from './registerForm.ts'

const form: RegisterForm = {
  accountId: WalletAccountId.parse(`wal_${'1'.repeat(24)}`),
  automatonId: 'a1b2c3d4-0000-4000-8000-000000000000',
  creator: `0x${'2'.repeat(40)}`,
  name: 'Ada',
  bio: '',
  promptHash: '',
}

test('allows an empty bio and prompt but requires a name', () => {
  expect(validateRegisterForm(form, { all: true })).toEqual({})
  expect(validateRegisterForm({ ...form, name: '' }, { all: false })).toEqual({})
  expect(validateRegisterForm({ ...form, name: '' }, { all: true })).toEqual({ name: 'It must not be empty.' })
})

test('reports invalid input immediately', () => {
  expect(
    validateRegisterForm({ ...form, creator: '0x12', promptHash: 'abc', automatonId: '7' }, { all: false }),
  ).toEqual({
    creator: 'It must be 0x and 40 hexadecimal digits, or a Solana address.',
    promptHash: 'It must be 0x and 64 hexadecimal digits.',
    automatonId: 'It must be a UUID, with or without dashes.',
  })
  expect(validateRegisterForm({ ...form, name: 'n'.repeat(129) }, { all: false }).name).toBe(
    'It must have at most 128 characters.',
  )
})

test('submits trimmed input without omitted fields', () => {
  expect(toRegistrationInput({ ...form, creator: ` ${form.creator}\n` }, [])).toEqual({
    automaton_id: form.automatonId,
    creator_address: form.creator,
    name: 'Ada',
    bio: '',
  })
})
