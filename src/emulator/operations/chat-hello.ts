import { succeed } from '../answer.ts';
import { aboutNoFile, type Operation } from '../operation.ts';

/** GET {chat_url}/{webhookUrl}/hello: says that the chat interface is there. Source: the official chat client. */
export const chatHello: Operation = {
  name: 'chat-hello',
  method: 'GET',
  pattern: '/chat/:webhookId/hello',
  surface: 'chat',
  identify: aboutNoFile,
  answer: () => succeed({}),
};

/** The same with a slash at its end, as the official chat client asks. */
export const chatHelloSlash: Operation = { ...chatHello, pattern: `${chatHello.pattern}/` };
