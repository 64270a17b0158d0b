// Pretends to be libcupti.so.
#include "fake_capture.hpp"

extern "C" {

strata::FakeCupti* fake_cupti() {
  static strata::FakeCupti cupti;
  return &cupti;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* data) {
  *subscriber = nullptr;
  fake_cupti()->callback = callback;
  fake_cupti()->data = data;
  return fake_cupti()->answer;
}

CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle /*subscriber*/,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (enable == 0 || domain != CUPTI_CB_DOMAIN_DRIVER_API) return CUPTI_ERROR_INVALID_PARAMETER;
  fake_cupti()->enabled.insert(id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult /*result*/, const char** text) {
  *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
  return CUPTI_SUCCESS;
}

}  // extern "C"
