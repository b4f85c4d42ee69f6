import { z } from 'zod'
import { createChatCompletion, listModels } from '../inference.ts'
import { defineTool, type Tool } from './tool.ts'

const Choice = z.looseObject({
  message: z.looseObject({ content: z.string().nullish() }).optional(),
  finish_reason: z.string().nullish(),
})

/** Default maximum of output tokens. */
const defaultMaxTokens = 16_384

/** Tools for model completions. */
export const modelTools: readonly Tool[] = [
  defineTool({
    name: 'chat_completions',
    description: 'Send a prompt to a model, paid with credits',
    group: 'models',
    effect: 'change',
    openWorld: true,
    price: 'credits',
    mayWait: true,
    routes: [createChatCompletion, listModels],
    input: {
      model: z.string(),
      messages: z.array(z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })).min(1),
      temperature: z.number().min(0).max(2).default(1),
      max_tokens: z.int().min(1).optional(),
    },
    output: {
      content: z.string(),
      finish_reason: z.string().nullable(),
      model: z.string(),
      usage: z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
      cost_micro_usd: z.int(),
    },
    cost: {
      async estimateMax(args, { work: { call }, remainingMicroUsd }) {
        const { data } = await call(listModels, {})
        const pricing = data.find(({ id }) => id === args.model)?.pricing
        if (!pricing) return undefined
        // US dollars per million tokens are micro-dollars per token. A token has at least one byte, and a UTF-16 unit
        // at most three.
        const inputs = args.messages.reduce((sum, { content }) => sum + 3 * content.length + 16, 0)
        const dearest = Math.max(pricing.input_per_million, ...pricing.tiers.map((it) => it.input_per_million))
        const output = Math.max(pricing.output_per_million, ...pricing.tiers.map((it) => it.output_per_million))
        const requestedTokens = args.max_tokens ?? defaultMaxTokens
        const affordable = output === 0 ? requestedTokens : Math.floor((remainingMicroUsd - inputs * dearest) / output)
        const tokens = Math.min(requestedTokens, affordable)
        if (tokens < 1 || (args.max_tokens !== undefined && tokens < args.max_tokens)) return undefined
        return { args: { ...args, max_tokens: tokens }, microUsd: Math.ceil(inputs * dearest + tokens * output) }
      },
      of: ({ cost_micro_usd: cost }) => Number(cost),
    },
    run: async (args, { call }) => {
      const { model, choices, usage } = await call(createChatCompletion, args)
      const { message, finish_reason } = Choice.parse(choices[0] ?? {})
      const { prompt_tokens, completion_tokens, total_tokens, cost } = usage
      return {
        content: message?.content ?? '',
        finish_reason: finish_reason ?? null,
        model,
        usage: { prompt_tokens, completion_tokens, total_tokens },
        cost_micro_usd: cost.micro_usd,
      }
    },
  }),
]
