import { USER } from '#resources/user.ts'
import { CHANGE_PASSWORD, CREATE_USER, SET_PASSWORD, UPDATE_USER } from '#resources/user-inputs.ts'
import { recordMutations } from '../resources/record-mutation.ts'
import { User } from './user.ts'

const mutation = recordMutations(User, 'user', ['userId', USER.fields.id.description])

const TAKES = 'Takes an access token of an administrator, or an API key of one with the permission `ADMIN`.'

mutation({
  name: 'createUser',
  description: `Creates a user. ${TAKES}`,
  takes: 'The new user.',
  input: CREATE_USER,
  isWithoutId: true,
  returns: 'The new user.',
  call: ({ users }, { caller, given, onLimit }) => users.create(caller, given, onLimit),
})

mutation({
  name: 'updateUser',
  description: `Changes the role, the status or the quota of a user. ${TAKES}`,
  takes: 'The user and the fields to change. A field that is absent or null keeps its value.',
  input: UPDATE_USER,
  returns: 'The user with the changes.',
  call: ({ users }, { caller, id, given, onLimit }) => users.update(caller, id, given, onLimit),
})

mutation({
  name: 'setPassword',
  description: `Replaces the password of a user and ends all its access tokens. ${TAKES}`,
  takes: 'The user and its new password.',
  input: SET_PASSWORD,
  returns: 'The user, whose access tokens have ended.',
  call: ({ users }, { caller, id, given: { password } }) => users.setPassword(caller, id, password),
})

mutation({
  name: 'changeMyPassword',
  description:
    'Replaces the password of the caller and ends all its access tokens, including the one of this request. Takes an access token, or an API key with the permission `ADMIN`.',
  takes: CHANGE_PASSWORD.description,
  input: CHANGE_PASSWORD,
  isWithoutId: true,
  returns: 'The caller, whose access tokens have ended.',
  call: ({ users }, { caller, given }) => users.changeOwnPassword(caller, given),
})
