/** Ways to speak to a provider, as resources/models.json names them. */
export const familyKinds = ['openai', 'anthropic', 'gemini', 'moonshot', 'qwen', 'local', 'openai-compatible'] as const
export type FamilyKind = (typeof familyKinds)[number]

/** Differences between providers that speak OpenAI's chat completions. */
export type ChatQuirks = {
  maxTokensField: 'max_completion_tokens' | 'max_tokens'
  /** Whether instructions of a developer have a role of their own. */
  hasDeveloperRole: boolean
  /** Whether calls must come back with the thinking that led to them. */
  returnsThinking: boolean
  /** Whether it takes `verbosity`, `prompt_cache_key` and `user`. */
  takesOwnFields: boolean
  /** Whether it refuses messages with `reasoning_content`, `reasoning` or `extra_content`. */
  refusesThinkingFields: boolean
  /** Whether it takes texts of blanks. */
  takesBlankTexts: boolean
  /** Whether calls may carry `extra_content`. */
  takesExtraContent: boolean
  /** Field that switches thinking on and off. */
  thinkingSwitch: 'thinking' | 'enable_thinking'
  /** Whether models that are not known to think take `reasoning_effort` all the same. */
  takesAnyEffort: boolean
}

/** OpenAI's form of embeddings. */
export type EmbeddingsQuirks = {
  /** The shortest encoding that it is known to have. */
  encoding: 'base64' | 'float'
  /** Whether inputs may be lists of tokens. */
  takesTokens: boolean
  takesUser: boolean
}

/** Differences between families that requests are written by. */
export type ModelQuirks = {
  /** Whether images may be addresses, not only bytes. */
  takesImageUrls: boolean
  /** Whether the provider counts tokens of Messages for nothing. */
  countsTokens: boolean
  /** Absent for families that do not speak chat completions. */
  chat: ChatQuirks | undefined
  /** Absent for families with another API for embeddings. */
  embeddings: EmbeddingsQuirks | undefined
}
