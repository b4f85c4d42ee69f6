/** Kinds of families, as named in resources/models.json. */
export const familyKinds = ['openai', 'anthropic', 'gemini', 'moonshot', 'qwen', 'local', 'openai-compatible'] as const
export type FamilyKind = (typeof familyKinds)[number]

/** Differences between providers of OpenAI-compatible chat completions. */
export type ChatQuirks = {
  maxTokensField: 'max_completion_tokens' | 'max_tokens'
  /** Whether developer instructions have their own role. */
  hasDeveloperRole: boolean
  /** Whether calls must be returned with the thinking that preceded them. */
  returnsThinking: boolean
  /** Whether the provider accepts `verbosity`, `prompt_cache_key` and `user`. */
  takesOwnFields: boolean
  /** Whether the provider rejects messages with `reasoning_content`, `reasoning` or `extra_content`. */
  refusesThinkingFields: boolean
  /** Whether the provider accepts texts that consist of whitespace. */
  takesBlankTexts: boolean
  takesExtraContent: boolean
  /** Field that enables or disables thinking. */
  thinkingSwitch: 'thinking' | 'enable_thinking'
  /** Whether models without known thinking support also accept `reasoning_effort`. */
  takesAnyEffort: boolean
}

/** Chat completions as most compatible providers implement them. */
export const compatibleChat: ChatQuirks = {
  maxTokensField: 'max_tokens',
  hasDeveloperRole: false,
  returnsThinking: false,
  takesOwnFields: false,
  refusesThinkingFields: false,
  takesBlankTexts: false,
  takesExtraContent: false,
  thinkingSwitch: 'thinking',
  takesAnyEffort: false,
}

/** Differences between providers of OpenAI-compatible embeddings. */
export type EmbeddingsQuirks = {
  /** Shortest encoding that the provider is known to support. */
  encoding: 'base64' | 'float'
  /** Whether inputs may be lists of tokens. */
  takesTokens: boolean
  takesUser: boolean
}

/** Differences between families that affect requests. */
export type ModelQuirks = {
  takesImageUrls: boolean
  /** Whether the provider counts tokens of Messages requests for free. */
  countsTokens: boolean
  /** Differences in chat completions. Undefined for families without them. */
  chat: ChatQuirks | undefined
  /** Differences in embeddings. Undefined for families with another API. */
  embeddings: EmbeddingsQuirks | undefined
}

/** Quirks of a family with OpenAI's API and no known differences. */
export const compatibleQuirks: ModelQuirks = {
  takesImageUrls: true,
  countsTokens: false,
  chat: compatibleChat,
  embeddings: { encoding: 'float', takesTokens: true, takesUser: false },
}
