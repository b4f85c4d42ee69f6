import { anthropic } from './anthropic.ts'
import { google } from './google.ts'
import { local } from './local.ts'
import type { ModelFamily } from './modelFamily.ts'
import { moonshot } from './moonshot.ts'
import { openAi } from './openAi.ts'
import { openAiCompatible } from './openAiCompatible.ts'
import type { FamilyKind } from './quirks.ts'
import { qwen } from './qwen.ts'

export const modelFamilies = {
  openai: openAi,
  anthropic,
  gemini: google,
  moonshot,
  qwen,
  local,
  'openai-compatible': openAiCompatible,
} as const satisfies Readonly<Record<FamilyKind, ModelFamily>>
