import { z } from 'zod'
import { AppError } from '../../appError.ts'
import { automatonLimits, listAutomatons, startRegistration } from '../automatons.ts'
import { getIntent } from '../intents.ts'
import { defineTool, type Tool } from './tool.ts'

const group = 'identity'

/** Tools for automaton identities. */
export const identityTools: readonly Tool[] = [
  defineTool({
    name: 'identity_register',
    description: 'Permanently register an automaton identity, signed by the wallet',
    group,
    effect: 'pay',
    openWorld: true,
    routes: [startRegistration, getIntent],
    input: {
      name: z.string().min(1).max(automatonLimits.nameCharacters),
      bio: z.string().max(automatonLimits.bioCharacters).default(''),
      automaton_id: z.string().optional().describe('UUID; defaults to a new one'),
      creator_address: z.string().optional(),
      genesis_prompt_hash: z.string().optional(),
    },
    output: { automaton_id: z.string(), automaton_address: z.string(), state: z.string() },
    run: async (args, { call, waitMs }) => {
      const { intent_id: intentId, profile } = await call(startRegistration, args)
      const { state, error, expires_at } = await call(getIntent, { intentId, wait_ms: waitMs })
      if (state === 'waiting' || state === 'approved') {
        return { waiting: { id: intentId, for: 'person', message: `Register ${profile.name}`, expires_at } }
      }
      if (state !== 'signed') throw new AppError('intent/denied', error ?? 'The registration was refused.')
      return { ...profile, state: 'signed', intent_id: intentId }
    },
  }),
  defineTool({
    name: 'identity_list',
    description: 'List your automaton identities',
    group,
    effect: 'read',
    routes: [listAutomatons],
    input: {},
    output: { automatons: z.array(z.looseObject({ automaton_id: z.string(), name: z.string() })) },
    run: async (_, { call }) => {
      const { automatons } = await call(listAutomatons, {})
      return { automatons }
    },
  }),
]
