interface Topic {
  readonly about: RegExp
  readonly en: string
  readonly zh: string
}

/** The topics on which replies have something to say; the first match is used. */
export const TOPICS: readonly Topic[] = [
  {
    about: /stream|\bsse\b|server-sent|流式|打字/i,
    en: 'A streamed reply comes as server-sent events: each one carries a fragment of the text, the last one says why it stopped, and `[DONE]` closes the stream. Read it fragment by fragment and the first words are on the screen while the rest is still being written.',
    zh: '流式回复以服务器推送事件的形式到达：每个事件带一小段文字，最后一个说明结束的原因，然后以 `[DONE]` 收尾。边收边显示，用户不必等到整段写完。',
  },
  {
    about: /fault|error|fail|timeout|故障|错误|超时/i,
    en: 'Every way in which a platform can fail is here on demand: put a word such as `sandbox:reset`, `sandbox:silence` or `sandbox:error=quota` into the query. The whole list is in the README of the sandbox package.',
    zh: '平台可能出现的每一种故障，这里都能按需重现：在问题里写上 `sandbox:reset`、`sandbox:silence` 或 `sandbox:error=quota` 这样的词即可。完整的列表见 sandbox 包的 README。',
  },
  {
    about: /api key|quota|usage|密钥|配额|用量/i,
    en: 'A client holds one API key of the gateway and never sees the platform’s. The gateway checks the key, its permission and what is left of the quota before it calls the platform, and counts the call whatever its end.',
    zh: '客户端只拿网关的 API 密钥，看不到平台的密钥。网关在调用平台之前检查密钥、权限和剩余配额；无论调用如何结束，都会计数。',
  },
  {
    about: /gateway|trunkline|网关/i,
    en: 'A gateway stands between your programs and the agent platforms. Your programs learn one interface, hold one kind of key and get one kind of answer; the gateway speaks each platform’s own protocol, keeps the conversations apart, counts every call and says clearly what went wrong when something does.',
    zh: '网关位于你的程序和各个智能体平台之间。程序只需学会一种接口、使用一种密钥、得到一种回复；网关负责讲每个平台自己的协议，隔离各个会话，统计每一次调用，并在出错时说清原因。',
  },
  {
    about: /^(hi|hello|hey)\b|who are you|你好|您好|你是谁/i,
    en: 'Nice to meet you. There is no model behind me: the same question always gets the same answer, which makes me dull company and a good test partner.',
    zh: '很高兴认识你。我背后没有模型：同样的问题永远得到同样的回答。这样的聊伴有点无趣，做测试搭档却正合适。',
  },
]
