/** Builds exports of other chat programs in their published formats. */

type Node = { id: string; parent: string | null; children: string[]; message: Record<string, unknown> | null }

export function chatGptNode(id: string, parent: string, role: string, text: string, more: object = {}): Node {
  return {
    id,
    parent,
    children: [],
    message: {
      id,
      author: { role, name: null, metadata: {} },
      create_time: 1_706_745_600,
      content: { content_type: 'text', parts: [text] },
      status: 'finished_successfully',
      weight: 1,
      metadata: { model_slug: 'gpt-4o' },
      recipient: 'all',
      ...more,
    },
  }
}

export function chatGptConversation(): { current_node: string; mapping: Record<string, Node> } & Record<
  string,
  unknown
> {
  return {
    id: 'chat-1',
    conversation_id: 'chat-1',
    title: 'Capitals',
    create_time: 1_706_745_600.5,
    update_time: 1_706_745_700,
    current_node: 'a2',
    default_model_slug: 'gpt-4o',
    mapping: {
      root: { id: 'root', parent: null, children: ['sys'], message: null },
      sys: chatGptNode('sys', 'root', 'system', '', { metadata: { is_visually_hidden_from_conversation: true } }),
      u1: chatGptNode('u1', 'sys', 'user', 'What is the capital of France?'),
      a1: chatGptNode('a1', 'u1', 'assistant', 'Paris.'),
      u2: chatGptNode('u2', 'a1', 'user', '', {
        content: { content_type: 'multimodal_text', parts: ['And of Spain?', { content_type: 'image_asset_pointer' }] },
      }),
      t2: chatGptNode('t2', 'u2', 'assistant', '', {
        content: { content_type: 'thoughts', thoughts: [{ summary: 'Spain', content: 'Spain is in Europe.' }] },
      }),
      c2: chatGptNode('c2', 't2', 'assistant', '', {
        recipient: 'web',
        content: { content_type: 'code', language: 'unknown', text: 'search("Spain")' },
      }),
      r2: chatGptNode('r2', 'c2', 'tool', 'Results'),
      a2: chatGptNode('a2', 'r2', 'assistant', 'Madrid.', { create_time: 1_706_745_640 }),
      u3: chatGptNode('u3', 'a1', 'user', 'And of Italy?'),
    },
  }
}

export function claudeConversation() {
  const message = (uuid: string, sender: string, text: string, more: object = {}) => ({
    uuid,
    text,
    content: [{ type: 'text', text }],
    sender,
    created_at: '2025-05-01T10:00:00.000000Z',
    updated_at: '2025-05-01T10:00:00.000000Z',
    attachments: [],
    files: [],
    ...more,
  })
  return {
    uuid: 'claude-1',
    name: 'Notes',
    created_at: '2025-05-01T10:00:00.000000Z',
    updated_at: '2025-05-01T10:01:00.000000Z',
    account: { uuid: 'account-1' },
    chat_messages: [
      message('h1', 'human', 'Sum this up.', {
        attachments: [{ file_name: 'notes.txt', file_type: 'txt', file_size: 11, extracted_content: 'Some notes.' }],
      }),
      message('a1', 'assistant', 'Short notes.', {
        created_at: '2025-05-01T10:00:05.000000Z',
        content: [
          { type: 'thinking', thinking: 'They are short.' },
          { type: 'tool_use', name: 'read', input: {} },
          { type: 'text', text: 'Short notes.' },
        ],
      }),
      message('h2', 'human', 'Thanks!'),
    ],
  }
}

export function libreChatConversation() {
  const message = (messageId: string, isCreatedByUser: boolean, text: string, children: object[] = []) => ({
    _id: `_${messageId}`,
    messageId,
    conversationId: 'libre-1',
    createdAt: '2024-04-09T14:32:05.230Z',
    isCreatedByUser,
    model: null,
    parentMessageId: '00000000-0000-0000-0000-000000000000',
    sender: isCreatedByUser ? 'User' : 'GPT-3.5',
    text,
    error: false,
    children,
  })
  return {
    conversationId: 'libre-1',
    endpoint: 'openAI',
    title: 'Fuel',
    exportAt: '16:33:32 GMT+0200 (Central European Summer Time)',
    branches: true,
    recursive: true,
    options: { model: 'gpt-3.5-turbo', promptPrefix: 'Be exact.', temperature: 1 },
    messagesTree: [
      message('m1', true, 'How much?', [
        message('m2', false, 'About 8 l.'),
        message('m3', false, 'About 9 l.', [message('m4', true, 'Sure?')]),
      ]),
    ],
  }
}

export function openWebUiConversation() {
  return {
    id: 'webui-1',
    user_id: 'u1',
    title: 'Product',
    chat: {
      title: 'Product',
      models: ['deepseek-r1'],
      history: {
        currentId: 'a',
        messages: {
          u: {
            id: 'u',
            parentId: null,
            childrenIds: ['a'],
            role: 'user',
            content: 'What is 15 * 17?',
            timestamp: 1_700_000_000,
          },
          a: {
            id: 'a',
            parentId: 'u',
            childrenIds: [],
            role: 'assistant',
            content:
              '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds</summary>\n&gt; Let me see &gt; that\n</details>\n255',
            model: 'deepseek-r1',
            timestamp: 1_700_000_010,
            done: true,
          },
        },
      },
    },
    created_at: 1_700_000_000,
    updated_at: 1_700_000_010,
    archived: false,
    pinned: false,
    meta: {},
    folder_id: null,
  }
}
